import { exitCodes, reportFailure } from './client/exit.ts'
import { UsageError } from './command.ts'
import { takeColorOption, usePlainOutput } from './terminal/style.ts'
import { systemErrorMessage } from './terminal/system-error.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader may close the pipe early, as `head` does. This is not an error.
  if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe)
  const systemMessage = systemErrorMessage(error)
  if (!systemMessage) throw error
  // A full disk behind the output must not stop the platform.
  if (process.argv[2] === 'up') return
  console.error(`roost: The output is lost. ${systemMessage}`)
  process.exit(exitCodes.failed)
})
process.exitCode = await main(process.argv.slice(2))

async function main(given: string[]): Promise<number> {
  if (given[0] === 'completion' && given[1] === 'agents') {
    // Loaded without the commands, because a shell waits for it at every Tab.
    const { printAgentNames } = await import('./client/agent-names.ts')
    return printAgentNames()
  }
  const taken = takeColorOption(given)
  if (taken === null) {
    console.error('roost: --color must be auto, always or never.')
    return exitCodes.usage
  }
  const [name, ...args] = taken
  const isJson = args.includes('--json')
  if (isJson) usePlainOutput()
  const { commands } = await import('./commands.ts')
  const { findCommand, help, unknownCommand } = await import('./help.ts')
  if (name === undefined || ['help', '--help', '-h'].includes(name)) return help(commands, args)
  const command = findCommand(commands, name === '--version' ? 'version' : name)
  if (!command) {
    console.error(`roost: ${unknownCommand(commands, name)}`)
    return exitCodes.usage
  }
  if (asksForHelp(args, command.passesArguments)) return help(commands, [command.name])
  try {
    return await command.run(args)
  } catch (error) {
    const systemMessage = systemErrorMessage(error)
    if (systemMessage) {
      return reportFailure({ error: 'failed', message: systemMessage, code: exitCodes.failed }, isJson)
    }
    if (!(error instanceof UsageError)) throw error
    const message = `${error.message} Run \`roost help ${command.name}\` for usage.`
    if (isJson) return reportFailure({ error: 'usage', message, code: exitCodes.usage }, true)
    console.error(`roost ${command.name}: ${message}`)
    return exitCodes.usage
  }
}

/** `passes`: options behind the first argument belong to another program. */
function asksForHelp(args: readonly string[], passes = false): boolean {
  const first = args.findIndex((arg) => !arg.startsWith('-'))
  const own = passes && first >= 0 ? args.slice(0, first) : args
  return own.includes('--help') || own.includes('-h')
}
