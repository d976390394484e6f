/**
 * Runs the program given as first argument with the remaining arguments, and ends with its parent process. The
 * scripted model server itself does not watch its parent and would outlive a killed one.
 */
import { pathToFileURL } from 'node:url'

process.on('disconnect', () => process.exit(0))
// The channel alone must not keep the process alive once its server is closed.
process.channel?.unref()
const [file = ''] = process.argv.splice(2, 1)
await import(pathToFileURL(file).href)
