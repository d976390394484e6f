import { connect } from 'node:net'
import { type Finding, fail, ok, warn } from './finding.ts'

const about = 'mail'
const timeoutMs = 5_000

/** Whether mail can be sent, and with it whether anybody can sign in by e-mail. Sends nothing. */
export async function checkMail(env: NodeJS.ProcessEnv): Promise<Finding> {
  const url = env.ROOST_MAIL_URL?.trim() ?? ''
  if (url === '') {
    const advice = 'set ROOST_MAIL_URL, for example to smtp://user:password@mail.example.com:587'
    return warn(
      about,
      'is not set up: nobody can sign in by e-mail, only the admin with the password',
      advice,
    )
  }
  if (url.startsWith('file:')) return ok(about, 'is written into files, and sent to nobody')
  if (url.startsWith('log:')) return ok(about, 'is written to the log, and sent to nobody')
  if (!/^smtps?:\/\/./.test(url) || !URL.canParse(url)) {
    return fail(about, 'ROOST_MAIL_URL cannot work', 'it must start with smtp://, smtps://, file: or log:')
  }
  // Named without user and password.
  const { protocol, hostname, port } = new URL(url)
  const server = { host: hostname, port: Number(port || (protocol === 'smtps:' ? 465 : 587)) }
  const refusal = await tryToReach(server)
  const name = `${server.host}:${server.port}`
  return refusal === null
    ? ok(about, `the server ${name} answers`)
    : fail(about, `the server ${name} does not answer (${refusal})`, 'look at ROOST_MAIL_URL and the network')
}

/** Null when somebody answers there; otherwise why not. */
function tryToReach(server: { host: string; port: number }): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ ...server, host: server.host.replace(/^\[|\]$/g, '') })
    const end = (refusal: string | null) => {
      socket.destroy()
      resolve(refusal)
    }
    socket.setTimeout(timeoutMs, () => end('no answer in 5 s'))
    socket.once('connect', () => end(null))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}
