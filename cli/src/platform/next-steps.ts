import type { ReadyMessage } from './messages.ts'

/**
 * What the person at the terminal reads when the platform is ready: where it is and what to do next. `password` is
 * a fresh one to propose; `hasCurl` is false where the lines for a shell need something installed first.
 */
export function nextSteps(ready: ReadyMessage, password: string, hasCurl = true): string[] {
  const { url, docs_url: docs, containers } = ready
  const lines = ['', `Roost is ready: ${url}`, `API page:       ${docs}`]
  if (containers) lines.push(`Agents run in:  ${containers}`)
  lines.push(...ready.notices.map((notice) => `Note: ${notice}`), '')
  const next = ready.setup_completed ? signInLines(url) : firstLines(url, password)
  return [...lines, ...next, ...(hasCurl ? [] : ['', noCurlLine]), '', stopLine]
}

const noCurlLine =
  'These lines need curl, which is not installed here: `apt-get install curl` first, as root.'

const stopLine = 'Ctrl-C stops the platform; agents keep running.'
const json = `-H 'Content-Type: application/json'`
const bearer = '-H "Authorization: Bearer $TOKEN"'

function tokenLine(url: string, password: string): string {
  return `TOKEN=$(curl -s ${url}/api/token -d username=admin --data-urlencode password='${password}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`
}

function chatLine(url: string): string {
  return `curl -sN ${url}/api/agents/first/chat ${bearer} ${json} -d '{"message":"Hello! Who are you?"}'`
}

function firstLines(url: string, password: string): string[] {
  return [
    `Next step: open ${url} in a browser and choose the password of the user "admin".`,
    '',
    'Or from this terminal: these five lines show the state of the set-up, set the password (made up just',
    'now: put your own in both places), sign in, create an agent and chat with it.',
    '',
    `curl -s ${url}/api/setup/status; echo`,
    `curl -s ${url}/api/setup/admin-password ${json} -d '{"password":"${password}"}'; echo`,
    tokenLine(url, password),
    `curl -s ${url}/api/agents ${bearer} ${json} -d '{"name":"first"}'; echo`,
    chatLine(url),
  ]
}

function signInLines(url: string): string[] {
  return [
    `Open ${url} in a browser, or sign in and see your agents from here:`,
    '',
    tokenLine(url, 'YOUR PASSWORD'),
    `curl -s ${url}/api/agents ${bearer}; echo`,
  ]
}
