/**
 * Preloaded with `--import`: the process starts at the time in `ROOST_TEST_CLOCK`, and its clock runs on from there.
 * A fixture then stays as fresh as on the day it was made: nothing expires and no schedule is late.
 */
const SystemDate = Date
const start = process.env.ROOST_TEST_CLOCK
if (!start) throw new Error('ROOST_TEST_CLOCK is not set.')
const offsetMs = SystemDate.parse(start) - SystemDate.now()

class ShiftedDate extends SystemDate {
  constructor(...values: [] | [number | string | Date]) {
    if (values.length === 0) super(SystemDate.now() + offsetMs)
    else super(...values)
  }

  static override now(): number {
    return SystemDate.now() + offsetMs
  }
}
Object.defineProperty(globalThis, 'Date', { value: ShiftedDate, configurable: true, writable: true })
