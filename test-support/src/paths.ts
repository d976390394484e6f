/** Names in `home` that a test makes links of, which lead out. */
export const linksOut = [
  'out',
  'out-up',
  'docs/out',
  'chain',
  'credentials',
  'slash',
  'proc',
  'loop',
  'nothing',
  'device',
]

/**
 * More than 500 paths, each of which leads out of `home` to `outside` beside it, or to the machine's own files, for
 * some reader somewhere: each way out in each spelling. Relative and absolute ones.
 */
export function waysOut(home: string, root: string): string[] {
  const ups = ['..', '../..', 'docs/../..', './..', './/..', 'docs/./../..', '../'.repeat(40)]
  const dots = [
    '..',
    '%2e%2e',
    '%252e%252e',
    '..%00',
    '．．',
    '․․',
    '‥',
    '..\\',
    '\u202e..',
    '.\u200b.',
    '. .',
    '..;',
    '%c0%ae%c0%ae',
    '...',
    '..\u0000',
  ]
  const slashes = ['/', '//', '\\', '%2f', '%5c', '／', '∕', '⧸', '/./', '\u2215']
  const goals = ['outside/secret.pem', 'etc/passwd', 'outside/deep/../secret.pem']
  const spelled = dots.flatMap((dot) =>
    slashes.flatMap((slash) => goals.map((goal) => `${dot}${slash}${goal}`)),
  )
  const plain = ups.flatMap((up) => goals.map((goal) => `${up}/${goal}`))
  const linked = linksOut.flatMap((way) =>
    [
      '',
      '/',
      '//',
      '/.',
      '/secret.pem',
      '/secret.pem/',
      '/deep/../secret.pem',
      '/./secret.pem',
      '/new/file.pem',
    ].map((end) => `${way}${end}`),
  )
  const absolute = [
    '/etc/passwd',
    '//etc/passwd',
    '/proc/self/environ',
    '/dev/sda',
    `${root}/outside/secret.pem`,
  ]
  const odd = [
    '',
    '.',
    '/',
    '\0',
    'a\0b',
    `${'a/'.repeat(3000)}b`,
    'x'.repeat(5000),
    '~/.ssh/id',
    '$HOME/x',
    'file:///etc/passwd',
    'C:\\x',
    'mine.pem',
    'chain.pem',
    'fd.pem',
  ]
  const relative = [...spelled, ...plain, ...linked, ...odd]
  return [
    ...new Set([
      ...relative.flatMap((path) => [`${home}/${path}`, path]),
      ...absolute,
      `${home}/../outside`,
      `${home}x`,
    ]),
  ]
}
