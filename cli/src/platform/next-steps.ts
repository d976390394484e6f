import type { ReadyMessage } from './messages.ts'

/**
 * Returns the lines printed when the platform is ready: its address and the next steps. `password` is a new random
 * one to propose. Without `hasCurl` a line says that the commands need curl.
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
  'These commands need curl, which is not installed. Run `apt-get install curl` as root first.'

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
    `Next step: open ${url} in a browser and choose a password for the user "admin".`,
    '',
    'Or use this terminal: these five commands show the setup state, set the password (a random one: put',
    'your own in both places), sign in, create an agent and chat with it.',
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
    `Open ${url} in a browser, or sign in and list your agents from here:`,
    '',
    tokenLine(url, 'YOUR PASSWORD'),
    `curl -s ${url}/api/agents ${bearer}; echo`,
  ]
}
