import type { Operation } from './api-document.ts'

/** The values of one call, as typed: by parameter name, and the body as text. */
export type Values = { parameters: Readonly<Record<string, string>>; body: string }

export type CallRequest = {
  method: string
  /** With query, without origin. */
  path: string
  headers: Record<string, string>
  body: string | null
}

/** Returns the request for these values. Empty optional parameters are left out; empty path parameters stay `{name}`. */
export function requestOf(operation: Operation, { parameters, body }: Values): CallRequest {
  const filled = operation.parameters.filter(({ name }) => (parameters[name] ?? '') !== '')
  const at = (place: 'path' | 'query' | 'header') =>
    filled.filter((one) => one.in === place).map(({ name }) => [name, parameters[name] ?? ''] as const)
  let { path } = operation
  for (const [name, value] of at('path')) path = path.replace(`{${name}}`, encodeURIComponent(value))
  const query = new URLSearchParams(at('query').map(([name, value]) => [name, value])).toString()
  const hasBody = operation.body !== null && body.trim() !== ''
  return {
    method: operation.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      ...(hasBody && operation.body ? { 'Content-Type': operation.body.mediaType } : {}),
      ...Object.fromEntries(at('header')),
    },
    body: hasBody ? body : null,
  }
}

export const languages = [
  { value: 'curl', label: 'curl', highlight: 'sh' },
  { value: 'typescript', label: 'TypeScript', highlight: 'ts' },
  { value: 'python', label: 'Python', highlight: 'python' },
] as const
export type Language = (typeof languages)[number]['value']

/** The variable of the environment that holds the key in all samples. */
const keyVariable = 'ROOST_KEY'

/** Returns a program that sends the request. The key comes from the environment, never from the page. */
export function sampleOf(
  language: Language,
  request: CallRequest,
  { origin, needsToken }: { origin: string; needsToken: boolean },
): string {
  const url = origin + request.path
  return { curl, typescript, python }[language](url, request, needsToken)
}

function curl(url: string, { method, headers, body }: CallRequest, needsToken: boolean): string {
  const options = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(needsToken ? [`-H "Authorization: Bearer $${keyVariable}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quotedForShell(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quotedForShell(body)}`]),
  ]
  return ['curl -sS --fail-with-body', ...options, quotedForShell(url)].join(' \\\n  ')
}

function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function typescript(url: string, { method, headers, body }: CallRequest, needsToken: boolean): string {
  const fields = [
    ...(needsToken ? [`Authorization: \`Bearer \${process.env.${keyVariable}}\`,`] : []),
    ...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`),
  ]
  const options = [
    `method: ${JSON.stringify(method)},`,
    ...(fields.length === 0 ? [] : ['headers: {', ...fields.map((field) => `  ${field}`), '},']),
    ...(body === null ? [] : [`body: ${bodyInTypeScript(body)},`]),
  ]
  const lines = options.flatMap((option) => option.split('\n')).map((line) => `  ${line}`)
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    ...lines,
    '})',
    'if (!response.ok) throw new Error(await response.text())',
    'console.log(await response.text())',
  ].join('\n')
}

/** JSON reads as an object; any other body stays text. */
function bodyInTypeScript(body: string): string {
  const value = parsed(body)
  return value === undefined ? JSON.stringify(body) : `JSON.stringify(${JSON.stringify(value, null, 2)})`
}

function python(url: string, { method, headers, body }: CallRequest, needsToken: boolean): string {
  const fields = [
    ...(needsToken ? [`"Authorization": f"Bearer {os.environ['${keyVariable}']}",`] : []),
    ...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`),
  ]
  return [
    ...(needsToken ? ['import os', ''] : []),
    'import requests',
    '',
    `response = requests.request(`,
    `    ${JSON.stringify(method)},`,
    `    ${JSON.stringify(url)},`,
    ...(fields.length === 0 ? [] : ['    headers={', ...fields.map((field) => `        ${field}`), '    },']),
    // A JSON text is a valid string literal of Python as well, and needs no translation of `true` and `null`.
    ...(body === null ? [] : [`    data=${JSON.stringify(body)}.encode(),`]),
    '    timeout=60,',
    ')',
    'response.raise_for_status()',
    'print(response.text)',
  ].join('\n')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
