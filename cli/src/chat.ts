import { createInterface } from 'node:readline/promises'
import { createSession, sendChat, sendSessionMessage } from '@roost/contracts/conversations/chat'
import { type CommandContext, clientCommand } from './client/client-command.ts'
import { exitCodes } from './client/exit.ts'
import { readInput } from './client/hidden-input.ts'
import { exitCodeOf, followRun, printRun, stopRunOnInterrupt } from './client/run-stream.ts'
import { UsageError } from './command.ts'

export const chat = clientCommand('chat', {
  parameters: 'AGENT [MESSAGE…]',
  summary: 'Chat with an agent; the answer is streamed.',
  options: { session: { type: 'string' }, new: { type: 'boolean' }, model: { type: 'string' } },
  optionLines: [
    'Without MESSAGE: reads piped input, or starts a conversation that ends with Ctrl-D.',
    'Ctrl-C stops the current answer.',
    '',
    '--new            start a new session (default: continue the current one)',
    '--session ID     continue this session of yours',
    '--model NAME     model for this message only',
  ],
  async run(context) {
    const [agent = '', ...words] = context.positionals
    if (context.flag('new') && context.text('session'))
      throw new UsageError('--new and --session cannot be combined.')
    const session = context.flag('new') ? await startSession(context, agent) : context.text('session')
    if (words.length > 0) return runTurn(context, agent, session, words.join(' '))
    if (!process.stdin.isTTY) return runTurn(context, agent, session, await readInput())
    return runConversation(context, agent, session)
  },
})

async function startSession({ api }: CommandContext, name: string): Promise<string> {
  const { id } = await api.call(createSession, { params: { name }, body: { make_current: true } })
  return id
}

async function runConversation(
  context: CommandContext,
  agent: string,
  session: string | undefined,
): Promise<number> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: `${agent}> ` })
  let isAnswering = false
  // The line editor receives Ctrl-C: it stops the running answer, or ends the conversation when there is none.
  terminal.on('SIGINT', () => (isAnswering ? process.emit('SIGINT') : terminal.close()))
  let isClosed = false
  terminal.once('close', () => {
    isClosed = true
  })
  terminal.prompt()
  for await (const line of terminal) {
    if (line.trim() !== '') {
      isAnswering = true
      await runTurn(context, agent, session, line)
      isAnswering = false
    }
    if (!isClosed) terminal.prompt()
  }
  process.stdout.write('\n')
  return exitCodes.ok
}

/** Runs one turn and returns its exit code. */
function runTurn(
  context: CommandContext,
  agent: string,
  session: string | undefined,
  message: string,
): Promise<number> {
  let run: { name: string; id: string } | null = null
  return stopRunOnInterrupt(
    context,
    () => run,
    async (signal) => {
      const body = { message, model: context.text('model') }
      const lines =
        session === undefined
          ? context.api.lines(sendChat, { params: { name: agent }, body, signal })
          : context.api.lines(sendSessionMessage, { params: { name: agent, id: session }, body, signal })
      const status = await printRun(
        context,
        withRunId(lines, (id) => (run = { name: agent, id })),
      )
      if (status !== null) return exitCodeOf(status)
      // The connection was lost while the turn continues, so this follows its run.
      return run ? followRun(context, run) : exitCodes.unreachable
    },
  )
}

/** Passes the lines through and reports the id of their run to `onAccepted`. */
async function* withRunId(
  lines: AsyncIterable<Record<string, unknown>>,
  onAccepted: (id: string) => void,
): AsyncIterable<Record<string, unknown>> {
  for await (const line of lines) {
    if (line.subtype === 'accepted' && typeof line.execution_id === 'string') onAccepted(line.execution_id)
    yield line
  }
}
