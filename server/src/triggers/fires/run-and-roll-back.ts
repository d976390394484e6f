import type { Db, Tx } from '../../ports/database/port.ts'

class Rehearsed extends Error {}

/** Runs the work of a transaction and rolls it back; no callbacks run. */
export async function runAndRollBack(
  { atomically }: Pick<Db, 'atomically'>,
  work: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  try {
    await atomically(async (tx) => {
      await work(tx)
      throw new Rehearsed()
    })
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error
  }
}
