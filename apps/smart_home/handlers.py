"""The tools of the smart home app, and every reply key that they use.

A tool looks at the device it is given and returns a Decision (what should become true, or a reason why not) or an
Answer (a reply key with values). The sentences stand in replies/en.yaml and replies/zh.yaml. In all tables
`name` and `names` are the devices as the home file calls them, `device_id` and `device_ids` their ids, so that a
reply can use a name in the speaker's language.

Decisions that act carry these values beside the tool's own arguments:

    set_brightness, adjust_brightness        brightness (percent; 0 = now off)
    set_color                                color (English name or as said); a white gives kelvin instead
    set_color_temperature, adjust_…          kelvin
    set_temperature, adjust_temperature      temperature, unit ("°C" or "°F": the device's own)
    set_temperature_range                    low, high, unit
    set_temperature_limit                    temperature, unit
    set_hvac_mode, set_fan_mode, set_preset_mode, set_swing_mode   mode
    set_humidity                             humidity (percent)
    set_effect                               effect (as the device lists it)
    set_fan_speed, adjust_fan_speed          percentage
    set_fan_oscillation                      oscillation ("on", "off")
    open_…, close_…, set_…_position          position (percent)
    set_volume, adjust_volume                volume (percent)
    media_search_play                        query
    vacuum_clean_area                        area
    activate_scene, run_script               n_devices
    add_to_list, remove_list_item, complete_list_item   item, count (items left on the list)
    clear_list                               count (0)
    …_timer                                  name, duration, left, time (of its end), area
    set_alarm, cancel_alarm, cancel_schedule time, on_day or weekdays, name, command

Reasons of a refusal (all have name, device_id):

    unsupported      what: brightness, color, color_temperature, speed, oscillation, position, stop, volume, fan_mode,
                     effect, flash, preset_mode, swing_mode, humidity
    out_of_range     value, low, high, unit ("%", "K", "°C", "°F")
    unknown_color    color
    unknown_mode     mode, modes (list)
    unknown_effect   effect, modes (list)
    one_temperature  low, high, unit: a device that takes no range, and from where to where its one temperature goes
    crossed_range    low, high, unit
    lacks_other_end  –
    keeps_range      low, high, unit: a device that keeps a range was told one temperature
    no_limit         –
    unclear_limit    low, high, unit: "as much as it goes" of what cools
    unknown_value    what (temperature: a relative change of a value that nobody knows)
    no_such_item     item
    bad_item         max_length
    list_full        count
    empty_query      –
    not_playing      –
    jammed           –
    bad_scene, nested_scene   –
    no_timer, no_alarm, no_such_alarm, no_reminder, no_such_reminder, no_plan, no_announcer, no_time, time_past,
    timer_too_long   –
    no_such_timer    name or duration
    timer_paused, timer_running   –
    timer_too_short  name, left
    too_many_timers  count
    unknown_room     name
    bad_time         time

Answers:

    state.one          name, device_id, type, device_class, area, state, unit
    state.many         names, device_ids, count, items: [as state.one]
    state.yes          as state.one, asked (the state that was asked for)
    state.no           as state.one (state: what it really is), asked
    state.any_yes      names, device_ids, count, state, total, type, others
    state.any_no       state, total, type, items (may be absent)
    state.all_yes      names, device_ids, count, state, total, type
    state.all_no       names, device_ids, count of those that are not, items: [as state.one], state, total, type, others
    state.unsure       some cannot tell, and without them there is no yes or no: others, items of those that can
    state.known        the same where only locks are asked whether their doors are open
    state.which        names, device_ids, count, state, total, type, others
    state.none         none is in that state: state, total, type, items (the last three may be absent)
    state.count        count, total, names, device_ids, state (None: all of them were counted), type, others
                       others: [as state.one, kind: offline, or only: a lock, which does not tell if its door is open];
                       area: the speaker's room, if it was asked about that alone
    state.unknown      names, device_ids, count: registered, but never reported a state
    state.unavailable  names, device_ids, count: offline
    value.one          as state.one, attribute, value, unit; the following have the same values
    temperature.one, target_temperature.one, humidity.one, brightness.one, position.one, volume.one, speed.one,
    battery.one, color.one (value: English name, or kelvin with unit K), mode.one, title.one, effect.one,
    effect_list.one
    value.many         names, device_ids, count, attribute, items: [as value.one]
    value.none         names, device_ids, count, attribute
    weather.now        name(s), condition, temperature, unit, humidity, wind_speed (each may be None)
    weather.unknown    names
    list.items         name, device_id, items, count
    list.empty         name, device_id
    list.count         name, device_id, count: the list tells only how many
    list.many          lists: [as list.items]
    list.none          –
    timers.one         name, duration, left (seconds), time (of its end), area
    timers.paused      as timers.one, without time
    timers.many        count (running), total (paused), rows: [as timers.one, kind: running or paused]
    timers.none        –
    timers.none_such   name or duration
    alarms.one         name, time, left, on_day or weekdays
    alarms.many        count, rows: [as alarms.one]
    alarms.none, alarms.none_such   –
    plans.one          command, time, left, on_day or weekdays or period
    plans.many         count, rows: [as plans.one]
    plans.none         –
    time.now           hour, minute, time ("07:05")
    date.today         year, month, day, weekday (1 = Monday), date ("2025-01-31")

State words: on, off, open, closed, opening, closing, locked, unlocked, jammed, playing, paused, idle, standby, docked,
cleaning, returning, mowing, heat, cool, heat_cool, auto, dry, fan_only, home, away, not_home, detected, clear, wet,
dry, low, normal, connected, disconnected, charging, not_charging, plugged_in, unplugged, hot, cold, problem, ok, safe,
unsafe, bright, dark, available, up_to_date; a sensor's state is its number.
"""

from __future__ import annotations

from .tools.alarms import alarm_status, cancel_alarm, cancel_schedule, list_schedules, reminder, set_alarm
from .tools.announce import broadcast
from .tools.climate import adjust_temperature, set_fan_mode, set_hvac_mode, set_temperature
from .tools.clock import get_date, get_time
from .tools.comfort import set_humidity, set_preset_mode, set_swing_mode, set_temperature_limit, set_temperature_range
from .tools.covers import (
    close_cover,
    close_valve,
    open_cover,
    open_valve,
    set_cover_position,
    set_valve_position,
    stop_cover,
)
from .tools.effects import flash_light, set_effect
from .tools.fans import adjust_fan_speed, set_fan_oscillation, set_fan_speed
from .tools.lights import (
    adjust_brightness,
    adjust_color_temperature,
    set_brightness,
    set_color,
    set_color_temperature,
)
from .tools.lists import add_to_list, clear_list, complete_list_item, get_list, remove_list_item
from .tools.locks import lock, unlock
from .tools.media import (
    adjust_volume,
    media_next,
    media_pause,
    media_previous,
    media_resume,
    media_search_play,
    media_stop,
    mute,
    set_volume,
    unmute,
)
from .tools.power import toggle, turn_off, turn_on
from .tools.questions import get_state, get_weather
from .tools.robots import (
    mower_dock,
    mower_start,
    vacuum_clean_area,
    vacuum_pause,
    vacuum_return,
    vacuum_start,
    vacuum_stop,
)
from .tools.scenes import activate_scene, run_script
from .tools.timers import (
    adjust_timer,
    cancel_all_timers,
    cancel_timer,
    pause_timer,
    resume_timer,
    set_timer,
    timer_status,
)

__all__ = [
    "activate_scene",
    "add_to_list",
    "adjust_brightness",
    "adjust_color_temperature",
    "adjust_fan_speed",
    "adjust_temperature",
    "adjust_timer",
    "adjust_volume",
    "alarm_status",
    "broadcast",
    "cancel_alarm",
    "cancel_all_timers",
    "cancel_schedule",
    "cancel_timer",
    "clear_list",
    "close_cover",
    "close_valve",
    "complete_list_item",
    "flash_light",
    "get_date",
    "get_list",
    "get_state",
    "get_time",
    "get_weather",
    "list_schedules",
    "lock",
    "media_next",
    "media_pause",
    "media_previous",
    "media_resume",
    "media_search_play",
    "media_stop",
    "mower_dock",
    "mower_start",
    "mute",
    "open_cover",
    "open_valve",
    "pause_timer",
    "reminder",
    "remove_list_item",
    "resume_timer",
    "run_script",
    "set_alarm",
    "set_brightness",
    "set_color",
    "set_color_temperature",
    "set_cover_position",
    "set_effect",
    "set_fan_mode",
    "set_fan_oscillation",
    "set_fan_speed",
    "set_humidity",
    "set_hvac_mode",
    "set_preset_mode",
    "set_swing_mode",
    "set_temperature",
    "set_temperature_limit",
    "set_temperature_range",
    "set_timer",
    "set_valve_position",
    "set_volume",
    "stop_cover",
    "timer_status",
    "toggle",
    "turn_off",
    "turn_on",
    "unlock",
    "unmute",
    "vacuum_clean_area",
    "vacuum_pause",
    "vacuum_return",
    "vacuum_start",
    "vacuum_stop",
]
