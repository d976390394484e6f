import { connect } from 'node:net'
import { type Finding, fail, ok, warn } from './finding.ts'

const about = 'mail'
const timeoutMs = 5_000

/** Checks whether mail can be sent, which sign-in by e-mail requires. Sends no mail. */
export async function checkMail(env: NodeJS.ProcessEnv): Promise<Finding> {
  const url = env.ROOST_MAIL_URL?.trim() ?? ''
  if (url === '') {
    const advice = 'set ROOST_MAIL_URL, for example to smtp://user:password@mail.example.com:587'
    return warn(about, 'not set up: nobody can sign in by e-mail, only the admin with the password', advice)
  }
  if (url.startsWith('file:')) return ok(about, 'written to files, sent to nobody')
  if (url.startsWith('log:')) return ok(about, 'written to the log, sent to nobody')
  if (!/^smtps?:\/\/./.test(url) || !URL.canParse(url)) {
    return fail(about, 'ROOST_MAIL_URL is invalid', 'it must start with smtp://, smtps://, file: or log:')
  }
  // The finding leaves out user and password.
  const { protocol, hostname, port } = new URL(url)
  const server = { host: hostname, port: Number(port || (protocol === 'smtps:' ? 465 : 587)) }
  const problem = await connectionProblem(server)
  const name = `${server.host}:${server.port}`
  return problem === null
    ? ok(about, `the server ${name} answers`)
    : fail(about, `the server ${name} does not answer (${problem})`, 'check ROOST_MAIL_URL and the network')
}

/** Returns null when the server accepts a connection, otherwise the reason. */
function connectionProblem(server: { host: string; port: number }): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ ...server, host: server.host.replace(/^\[|\]$/g, '') })
    const end = (problem: string | null) => {
      socket.destroy()
      resolve(problem)
    }
    socket.setTimeout(timeoutMs, () => end('no answer in 5 s'))
    socket.once('connect', () => end(null))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}
