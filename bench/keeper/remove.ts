/** Removes a session whose keeper was killed. The worker starts this program and is removed itself. */
import { removeSession } from '../../cli/src/testing/leftovers.ts'
import { sessionOf } from '../../cli/src/testing/session.ts'

await removeSession(sessionOf(process.argv[2] ?? ''))
