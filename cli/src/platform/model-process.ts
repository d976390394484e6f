/**
 * Runs the program named by the first argument with the other arguments, and ends with the process that
 * started it: the scripted model server itself knows of no supervisor and would outlive one that was killed.
 */
import { pathToFileURL } from 'node:url'

process.on('disconnect', () => process.exit(0))
// Listening alone must not keep it alive once its server is closed.
process.channel?.unref()
const [file = ''] = process.argv.splice(2, 1)
await import(pathToFileURL(file).href)
