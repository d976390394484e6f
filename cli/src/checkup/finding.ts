/** One thing that was looked at. `advice` says what to do, and is there whenever something is to be done. */
export type Finding = {
  state: 'ok' | 'warn' | 'fail'
  about: string
  words: string
  advice?: string
}

export function ok(about: string, words: string): Finding {
  return { state: 'ok', about, words }
}

export function warn(about: string, words: string, advice: string): Finding {
  return { state: 'warn', about, words, advice }
}

export function fail(about: string, words: string, advice: string): Finding {
  return { state: 'fail', about, words, advice }
}

/** As the person at the terminal reads it. */
export function findingLines(findings: Finding[]): string[] {
  const width = Math.max(...findings.map(({ about }) => about.length))
  return findings.flatMap(({ state, about, words, advice }) => {
    const [first = '', ...more] = words.split('\n')
    const indent = ' '.repeat(6 + width + 2)
    return [
      `${state.padEnd(4)}  ${about.padEnd(width)}  ${first}`,
      ...more.map((line) => `${indent}${line}`),
      ...(advice ? [`${indent}→ ${advice}`] : []),
    ]
  })
}
