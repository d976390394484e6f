import { createInterface } from 'node:readline/promises'
import { createSession, sendChat, sendSessionMessage } from '@roost/contracts/conversations/chat'
import { type Asked, clientCommand } from './client/client-command.ts'
import { exitCodes } from './client/exit.ts'
import { readInput } from './client/hidden-input.ts'
import { endingOnInterrupt, exitCodeOf, followRun, printRun } from './client/run-stream.ts'
import { UsageError } from './command.ts'

export const chat = clientCommand('chat', {
  takes: 'AGENT [MESSAGE…]',
  summary: 'Talk with an agent; its answer is written as it comes.',
  options: { session: { type: 'string' }, new: { type: 'boolean' }, model: { type: 'string' } },
  optionLines: [
    'Without a message: what is piped in, or a conversation line by line until Ctrl-D.',
    'Ctrl-C stops the answer that is being written.',
    '',
    '--new            begin a new conversation; else the current one goes on',
    '--session ID     a conversation of yours',
    '--model NAME     for this message only',
  ],
  async run(asked) {
    const [agent = '', ...words] = asked.positionals
    if (asked.flag('new') && asked.text('session'))
      throw new UsageError('--new and --session exclude each other.')
    const session = asked.flag('new') ? await begin(asked, agent) : asked.text('session')
    if (words.length > 0) return turn(asked, agent, session, words.join(' '))
    if (!process.stdin.isTTY) return turn(asked, agent, session, await readInput())
    return conversation(asked, agent, session)
  },
})

async function begin({ api }: Asked, name: string): Promise<string> {
  const { id } = await api.call(createSession, { params: { name }, body: { make_current: true } })
  return id
}

async function conversation(asked: Asked, agent: string, session: string | undefined): Promise<number> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: `${agent}> ` })
  let isAnswering = false
  // The line editor takes the keys: Ctrl-C is the answer's while there is one, and ends the conversation else.
  terminal.on('SIGINT', () => (isAnswering ? process.emit('SIGINT') : terminal.close()))
  let isClosed = false
  terminal.once('close', () => {
    isClosed = true
  })
  terminal.prompt()
  for await (const line of terminal) {
    if (line.trim() !== '') {
      isAnswering = true
      await turn(asked, agent, session, line)
      isAnswering = false
    }
    if (!isClosed) terminal.prompt()
  }
  process.stdout.write('\n')
  return exitCodes.ok
}

/** One turn; its exit code. */
function turn(asked: Asked, agent: string, session: string | undefined, message: string): Promise<number> {
  let run: { name: string; id: string } | null = null
  return endingOnInterrupt(
    asked,
    () => run,
    async (signal) => {
      const body = { message, model: asked.text('model') }
      const lines =
        session === undefined
          ? asked.api.lines(sendChat, { params: { name: agent }, body, signal })
          : asked.api.lines(sendSessionMessage, { params: { name: agent, id: session }, body, signal })
      const status = await printRun(
        asked,
        noting(lines, (id) => (run = { name: agent, id })),
      )
      if (status !== null) return exitCodeOf(status)
      // The connection broke off; the turn goes on, and is taken up where it stands.
      return run ? followRun(asked, run) : exitCodes.unreachable
    },
  )
}

/** The same lines; `accepted` hears which run they are of. */
async function* noting(
  lines: AsyncIterable<Record<string, unknown>>,
  accepted: (id: string) => void,
): AsyncIterable<Record<string, unknown>> {
  for await (const line of lines) {
    if (line.subtype === 'accepted' && typeof line.execution_id === 'string') accepted(line.execution_id)
    yield line
  }
}
