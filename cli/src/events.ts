import { setTimeout as pause } from 'node:timers/promises'
import { socketCloseCodes } from '@roost/contracts/operations/sockets'
import { type Asked, verbsCommand } from './client/client-command.ts'
import { CommandFailed, exitCodes } from './client/exit.ts'
import { oneLine, time } from './client/output.ts'
import { UsageError } from './command.ts'

const pauseMs = 2_000

export const events = verbsCommand('events', 'What happens on the platform, as it happens.', {
  tail: {
    takes: '',
    summary: 'Prints events until Ctrl-C, over broken connections without a gap.',
    options: { agent: { type: 'string' }, type: { type: 'string' }, limit: { type: 'string' } },
    optionLines: [
      '--agent NAME     of this agent only; --type WORD such as execution_finished; --limit N and then end',
    ],
    run: tail,
  },
})

async function tail(asked: Asked): Promise<number> {
  const most = asked.integer('limit') ?? Number.POSITIVE_INFINITY
  if (most < 1) throw new UsageError('--limit must be at least 1.')
  let last: string | null = null
  let shown = 0
  let wasOpen = false
  for (;;) {
    const ended = await listen(asked, last, (event) => {
      wasOpen = true
      if (typeof event._eid === 'string') last = event._eid
      if (!isWanted(asked, event)) return true
      write(asked, event)
      shown += 1
      return shown < most
    })
    if (ended === 'enough') return exitCodes.ok
    if (ended === socketCloseCodes.unauthorized || ended === socketCloseCodes.forbidden) {
      throw new CommandFailed('This key opens no stream of events.', exitCodes.denied)
    }
    if (!wasOpen) throw new CommandFailed(`No stream of events at ${asked.url}.`, exitCodes.unreachable)
    await pause(pauseMs)
  }
}

type Event = Record<string, unknown>

/** Resolves with the code of the close, or `enough` once `take` wants no more. */
function listen(
  { url, key }: Asked,
  last: string | null,
  take: (event: Event) => boolean,
): Promise<number | 'enough'> {
  const address = new URL('/ws/events', url.replace(/^http/, 'ws'))
  address.searchParams.set('token', key)
  if (last !== null) address.searchParams.set('last_event_id', last)
  return new Promise((resolve) => {
    const socket = new WebSocket(address)
    socket.addEventListener('message', ({ data }) => {
      if (take(JSON.parse(String(data)) as Event)) return
      resolve('enough')
      socket.close()
    })
    socket.addEventListener('close', ({ code }) => resolve(code))
  })
}

const control = ['connected', 'refreshed', 'pong']

function isWanted({ text }: Asked, event: Event): boolean {
  if (control.includes(String(event.type))) return false
  const [agent, type] = [text('agent'), text('type')]
  return (agent === undefined || event.agent_name === agent) && (type === undefined || event.type === type)
}

function write({ isJson }: Asked, event: Event): void {
  if (isJson) {
    console.log(JSON.stringify(event))
    return
  }
  const { type, ts, agent_name, _eid, event: _, ...fields } = event
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${oneLine(String(value)).slice(0, 80)}`)
  console.log([time(String(ts)), type, agent_name ?? '', ...rest].filter(Boolean).join('  '))
}
