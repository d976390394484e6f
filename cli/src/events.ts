import { setTimeout as pause } from 'node:timers/promises'
import { socketCloseCodes } from '@roost/contracts/operations/sockets'
import { type CommandContext, commandGroup } from './client/client-command.ts'
import { CommandFailed, exitCodes } from './client/exit.ts'
import { oneLine, time } from './client/output.ts'
import { UsageError } from './command.ts'

const reconnectDelayMs = 2_000

export const events = commandGroup('events', 'Live events of the platform.', {
  tail: {
    parameters: '',
    summary: 'Print events until Ctrl-C; resumes without gaps after a broken connection.',
    options: { agent: { type: 'string' }, type: { type: 'string' }, limit: { type: 'string' } },
    optionLines: [
      '--agent NAME     only events of this agent; --type TYPE such as execution_finished; --limit N then exit',
    ],
    run: tail,
  },
})

async function tail(context: CommandContext): Promise<number> {
  const maxEvents = context.integer('limit') ?? Number.POSITIVE_INFINITY
  if (maxEvents < 1) throw new UsageError('--limit must be at least 1.')
  let lastEventId: string | null = null
  let printed = 0
  let hadConnection = false
  for (;;) {
    const outcome = await listen(context, lastEventId, (event) => {
      hadConnection = true
      if (typeof event._eid === 'string') lastEventId = event._eid
      if (!matchesFilters(context, event)) return true
      printEvent(context, event)
      printed += 1
      return printed < maxEvents
    })
    if (outcome === 'enough') return exitCodes.ok
    if (outcome === socketCloseCodes.unauthorized || outcome === socketCloseCodes.forbidden) {
      throw new CommandFailed(
        'This key may not read events. Sign in again, or use another key.',
        exitCodes.denied,
      )
    }
    if (!hadConnection)
      throw new CommandFailed(
        `There is no event stream at ${context.url}. Check the address.`,
        exitCodes.unreachable,
      )
    await pause(reconnectDelayMs)
  }
}

type Event = Record<string, unknown>

/** Resolves with the WebSocket close code, or with `enough` once `onEvent` returns false. */
function listen(
  { url, key }: CommandContext,
  lastEventId: string | null,
  onEvent: (event: Event) => boolean,
): Promise<number | 'enough'> {
  const address = new URL('/ws/events', url.replace(/^http/, 'ws'))
  address.searchParams.set('token', key)
  if (lastEventId !== null) address.searchParams.set('last_event_id', lastEventId)
  return new Promise((resolve) => {
    const socket = new WebSocket(address)
    socket.addEventListener('message', ({ data }) => {
      if (onEvent(JSON.parse(String(data)) as Event)) return
      resolve('enough')
      socket.close()
    })
    socket.addEventListener('close', ({ code }) => resolve(code))
  })
}

const controlTypes = ['connected', 'refreshed', 'pong']

function matchesFilters({ text }: CommandContext, event: Event): boolean {
  if (controlTypes.includes(String(event.type))) return false
  const [agent, type] = [text('agent'), text('type')]
  return (agent === undefined || event.agent_name === agent) && (type === undefined || event.type === type)
}

function printEvent({ isJson }: CommandContext, event: Event): void {
  if (isJson) {
    console.log(JSON.stringify(event))
    return
  }
  const { type, ts, agent_name, _eid, event: _, ...fields } = event
  const details = Object.entries(fields)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${oneLine(String(value)).slice(0, 80)}`)
  console.log([time(String(ts)), type, agent_name ?? '', ...details].filter(Boolean).join('  '))
}
