/** Removes a session whose keeper was killed; started by its worker, which is among what is removed. */
import { removeSession } from './leftovers.ts'
import { sessionOf } from './session.ts'

await removeSession(sessionOf(process.argv[2] ?? ''))
