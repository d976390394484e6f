import { agents } from './agents.ts'
import { backup, restore } from './backup.ts'
import { chat } from './chat.ts'
import { exitCodes, tellEnding } from './client/exit.ts'
import { type Command, UsageError } from './command.ts'
import { createCompletion } from './completion.ts'
import { doctor } from './doctor.ts'
import { events } from './events.ts'
import { executions } from './executions.ts'
import { fleet } from './fleet.ts'
import { help, version } from './help.ts'
import { keys } from './keys.ts'
import { login, logout, servers } from './login.ts'
import { logs } from './logs.ts'
import { loops } from './loops.ts'
import { mcpConfig } from './mcp-config.ts'
import { model } from './model.ts'
import { notifications } from './notifications.ts'
import { prices } from './prices.ts'
import { regainAdmin } from './regain-admin.ts'
import { reports } from './reports.ts'
import { schedules } from './schedules.ts'
import { skills } from './skills.ts'
import { task } from './task.ts'
import { refusalOfSystem } from './terminal/system-refusal.ts'
import { test } from './test.ts'
import { up } from './up.ts'

/** The order is the one that `roost help` shows. */
const commands: Command[] = [
  up,
  login,
  logout,
  servers,
  agents,
  fleet,
  chat,
  task,
  executions,
  schedules,
  loops,
  skills,
  notifications,
  reports,
  logs,
  events,
  keys,
  prices,
  mcpConfig,
  createCompletion(() => commands),
  doctor,
  backup,
  restore,
  regainAdmin,
  test,
  model,
  version,
]

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads the output may go before its end, as `head` does: nothing is wrong, and nobody reads on.
  if (error.code === 'EPIPE') process.exit(exitCodes.readerGone)
  const refusal = refusalOfSystem(error)
  if (!refusal) throw error
  // The platform is not stopped because a file that its words go to is on a full disk.
  if (process.argv[2] === up.name) return
  console.error(`roost: The output is lost. ${refusal}`)
  process.exit(exitCodes.failed)
})
process.exitCode = await main(process.argv.slice(2))

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || ['help', '--help', '-h'].includes(name)) return help(commands, args)
  const command = commands.find((each) => each.name === (name === '--version' ? 'version' : name))
  if (!command) {
    console.error(`roost: there is no command ${JSON.stringify(name)}. \`roost help\` lists them.`)
    return 2
  }
  if (args.includes('--help') || args.includes('-h')) return help(commands, [command.name])
  try {
    return await command.run(args)
  } catch (error) {
    const refusal = refusalOfSystem(error)
    if (refusal) {
      return tellEnding(
        { error: 'failed', message: refusal, code: exitCodes.failed },
        args.includes('--json'),
      )
    }
    if (!(error instanceof UsageError)) throw error
    const message = `${error.message} \`roost help ${command.name}\` says what it takes.`
    if (args.includes('--json')) return tellEnding({ error: 'usage', message, code: exitCodes.usage }, true)
    console.error(`roost ${command.name}: ${message}`)
    return exitCodes.usage
  }
}
