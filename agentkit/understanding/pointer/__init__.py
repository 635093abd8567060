"""The language of the home model: a shortlist of the home with pointer tokens in, calls on those pointers out."""
