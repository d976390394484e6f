/** Removes a session whose keeper was killed. The worker starts this program and is removed itself. */
import { removeSession } from './leftovers.ts'
import { sessionOf } from './session.ts'

await removeSession(sessionOf(process.argv[2] ?? ''))
