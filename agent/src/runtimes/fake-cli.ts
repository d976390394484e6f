import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The process behind `fake.ts`: one input line per turn, output lines, directives in double brackets. */
type Turn = { text: string; images: number; interrupt?: boolean }

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

async function serve(state: string, resume: string): Promise<void> {
  mkdirSync(state, { recursive: true })
  const session = resume || randomUUID()
  const history = join(state, `${session}.txt`)
  let interrupt = () => {}
  for await (const line of createInterface({ input: process.stdin })) {
    const turn: Turn = JSON.parse(line)
    if (turn.interrupt) {
      interrupt()
      continue
    }
    if (resume && !existsSync(history)) {
      say({ say: 'end', fault: `no session ${resume}`, lost: true })
      continue
    }
    say({ say: 'init', session })
    const interrupted = new Promise<'interrupted'>((resolve) => {
      interrupt = () => resolve('interrupted')
    })
    // Not awaited, because the next line may be the interrupt.
    void Promise.race([answer(turn, history), interrupted]).then((end) =>
      say(end === 'interrupted' ? { say: 'end', fault: 'interrupted' } : end),
    )
  }
  // An interrupted turn may still have a timer.
  process.exit(0)
}

async function answer({ text: message, images }: Turn, history: string): Promise<object> {
  const before = existsSync(history) ? readFileSync(history, 'utf8') : ''
  appendFileSync(history, `${message}\n`)
  let reply = `ok: ${message}`
  for (const [, name = '', argument = ''] of message.matchAll(/\[\[([a-z-]+)(?::(.*?))?\]\]/g)) {
    const step = await execute(name, argument, { asked: message, before })
    if (step.end) return step.end
    if (step.reply !== undefined) reply = step.reply
  }
  const text = reply.replace('%images', String(images))
  for (const piece of text.match(/[\s\S]{1,8}/g) ?? []) say({ say: 'piece', text: piece })
  return { say: 'end' }
}

type Context = { asked: string; before: string }
type Effect = { end?: object; reply?: string }

async function execute(name: string, argument: string, { asked, before }: Context): Promise<Effect> {
  switch (name) {
    case 'reply':
      return { reply: argument }
    case 'system':
      return { reply: process.env.FAKE_SYSTEM ?? '' }
    case 'env':
      return { reply: process.env[argument] ?? '(unset)' }
    case 'images':
      return { reply: 'images=%images' }
    case 'recall':
      return { reply: `recall=${before.includes(argument) ? 'yes' : 'no'}` }
    case 'pid':
      return { reply: String(process.pid) }
    case 'fail':
      return { end: { say: 'end', fault: `scripted ${argument}`, status: Number(argument) } }
    case 'exit':
      if (argument !== '0') process.stderr.write(`scripted exit ${argument}\n`)
      process.exit(Number(argument))
      break
    case 'echo':
      return { reply: asked }
    case 'len':
      return { reply: `len=${asked.length}` }
    case 'hang':
      return await new Promise(() => setInterval(() => {}, 1000))
    case 'sleep':
      await new Promise((done) => setTimeout(done, Number(argument) * 1000))
      return {}
    case 'lines':
      for (let count = 1; count <= Number(argument); count += 1)
        say({ say: 'answer', id: `t${count}`, text: `line ${count}` })
      return {}
    case 'big':
      say({ say: 'answer', id: 'big', text: 'x'.repeat(Number(argument)) })
      return {}
    case 'daemon': {
      // Starts its own session, as a server started by a tool would.
      const child = spawn('/bin/sleep', ['1000'], { detached: true, stdio: 'ignore' })
      child.unref()
      return { reply: String(child.pid) }
    }
    case 'tool': {
      const command = argument.replace(/^Bash:/, '')
      say({ say: 'call', id: 't1', input: { command } })
      const { stdout, stderr } = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' })
      say({ say: 'answer', id: 't1', text: `${stdout}${stderr}` })
      return { reply: `tool-result: ${stdout}${stderr}` }
    }
    default:
      return {}
  }
  return {}
}

if (import.meta.main) await serve(process.argv[2] ?? '.', process.argv[3] ?? '')
