import { exitCodes, reportFailure } from './client/exit.ts'
import { UsageError } from './command.ts'
import { commands } from './commands.ts'
import { help } from './help.ts'
import { systemErrorMessage } from './terminal/system-error.ts'
import { up } from './up.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader may close the pipe early, as `head` does. This is not an error.
  if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe)
  const systemMessage = systemErrorMessage(error)
  if (!systemMessage) throw error
  // A full disk behind the output must not stop the platform.
  if (process.argv[2] === up.name) return
  console.error(`roost: The output is lost. ${systemMessage}`)
  process.exit(exitCodes.failed)
})
process.exitCode = await main(process.argv.slice(2))

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || ['help', '--help', '-h'].includes(name)) return help(commands, args)
  const command = commands.find((each) => each.name === (name === '--version' ? 'version' : name))
  if (!command) {
    console.error(`roost: Unknown command ${JSON.stringify(name)}. Run \`roost help\` for the list.`)
    return 2
  }
  if (args.includes('--help') || args.includes('-h')) return help(commands, [command.name])
  try {
    return await command.run(args)
  } catch (error) {
    const systemMessage = systemErrorMessage(error)
    if (systemMessage) {
      return reportFailure(
        { error: 'failed', message: systemMessage, code: exitCodes.failed },
        args.includes('--json'),
      )
    }
    if (!(error instanceof UsageError)) throw error
    const message = `${error.message} Run \`roost help ${command.name}\` for usage.`
    if (args.includes('--json'))
      return reportFailure({ error: 'usage', message, code: exitCodes.usage }, true)
    console.error(`roost ${command.name}: ${message}`)
    return exitCodes.usage
  }
}
