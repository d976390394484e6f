import { spawn } from 'node:child_process'
import { getAgent } from '@roost/contracts/agents/registry'
import { ApiError } from '@roost/contracts/client'
import { agentNamePattern } from '@roost/contracts/kit/primitives'
import { type CommandContext, clientCommand } from './client/client-command.ts'
import { CommandFailed, exitCodes } from './client/exit.ts'
import { UsageError } from './command.ts'
import { hasProgram } from './machine/run.ts'
import { findRun } from './runs.ts'

export const openCommand = clientCommand('open', {
  parameters: '[AGENT|RUN]',
  summary: 'Open the web UI, or the page of an agent or a run, in the browser.',
  options: { tab: { type: 'string' }, print: { type: 'boolean' } },
  optionLines: [
    'Without a browser the address is printed.',
    '',
    '--tab NAME     a tab of the agent, as in its address: chat, executions, files, settings, …',
    '--print        print the address and open nothing',
  ],
  async run(context) {
    const { positionals, text, flag, isJson } = context
    const address = context.url.replace(/\/$/, '') + (await pathOf(context, positionals[0], text('tab')))
    const isOpened = !flag('print') && !isJson && (await openBrowser(address, process.env))
    context.print({ url: address }, () => (isOpened ? `Opened ${address}` : address))
    return exitCodes.ok
  },
})

/** The path of the web UI for an agent or a run; both are looked up, so that a mistake is reported here. */
async function pathOf(
  { api }: CommandContext,
  target: string | undefined,
  tab: string | undefined,
): Promise<string> {
  if (target === undefined && tab !== undefined) throw new UsageError('--tab needs the name of an agent.')
  if (target === undefined) return '/'
  if (tab !== undefined && !/^[a-z-]+$/.test(tab))
    throw new UsageError(`--tab must be lowercase letters, not ${JSON.stringify(tab)}.`)
  const missing = await agentError(api, target)
  if (missing === null) return `/agents/${target}${tab === undefined ? '' : `?tab=${tab}`}`
  const run = await findRun(api, target).catch((error: unknown) => {
    // The error of the agent has the better hint.
    const isMissing = error instanceof CommandFailed && error.code === exitCodes.notFound
    throw isMissing || error instanceof UsageError ? missing : error
  })
  if (tab !== undefined) throw new UsageError('--tab is for agents only.')
  return run.isDeleted ? `/executions/${run.id}` : `/agents/${run.name}/executions/${run.id}`
}

/** Null when the agent exists; the error when there is none. Throws other errors. */
async function agentError(api: CommandContext['api'], name: string): Promise<Error | null> {
  if (!agentNamePattern.test(name))
    return new CommandFailed(`There is no agent or run ${JSON.stringify(name)}.`, exitCodes.notFound)
  try {
    await api.call(getAgent, { params: { name } })
    return null
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return error
    throw error
  }
}

/** Starts the user's browser; false where there is none. */
async function openBrowser(address: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const [program, ...args] = await browserCommand(env)
  if (program === undefined) return false
  return new Promise((resolve) => {
    // Detached: the browser outlives this command, and Ctrl-C does not end it.
    const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

/** `BROWSER` first, then the desktop's program. Empty without a desktop, as in a remote shell. */
async function browserCommand(env: NodeJS.ProcessEnv): Promise<string[]> {
  const chosen = env.BROWSER?.split(':')[0]?.trim()
  if (chosen) return chosen.split(/\s+/)
  if (env.WSL_DISTRO_NAME && (await hasProgram('wslview'))) return ['wslview']
  const hasDesktop = Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
  return hasDesktop && (await hasProgram('xdg-open')) ? ['xdg-open'] : []
}
