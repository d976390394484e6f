import { setImmediate as nextTurn } from 'node:timers/promises'

/** Items of a long loop between two pauses: a few milliseconds of work. */
const itemsPerPause = 2000

/** Returns a function to await for each item of a long loop. Now and then, it lets this process answer others. */
export function createPause(): () => Promise<void> | undefined {
  let items = 0
  return () => {
    items += 1
    return items % itemsPerPause === 0 ? nextTurn() : undefined
  }
}
