/** The result of one check. `advice` is set whenever there is something to do. */
export type Finding = {
  state: 'ok' | 'warn' | 'fail'
  about: string
  message: string
  advice?: string
}

export function ok(about: string, message: string): Finding {
  return { state: 'ok', about, message }
}

export function warn(about: string, message: string, advice: string): Finding {
  return { state: 'warn', about, message, advice }
}

export function fail(about: string, message: string, advice: string): Finding {
  return { state: 'fail', about, message, advice }
}

/** Formats findings for the terminal. */
export function findingLines(findings: Finding[]): string[] {
  const width = Math.max(...findings.map(({ about }) => about.length))
  return findings.flatMap(({ state, about, message, advice }) => {
    const [first = '', ...more] = message.split('\n')
    const indent = ' '.repeat(6 + width + 2)
    return [
      `${state.padEnd(4)}  ${about.padEnd(width)}  ${first}`,
      ...more.map((line) => `${indent}${line}`),
      ...(advice ? [`${indent}→ ${advice}`] : []),
    ]
  })
}
