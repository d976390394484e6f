/** Names in `home` that tests create as links out of it. */
export const escapingLinks = [
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
 * Over 500 relative and absolute paths. For some parser, each leads out of `home`, to `outside` next to it or
 * to system files.
 */
export function waysOut(home: string, root: string): string[] {
  const parents = ['..', '../..', 'docs/../..', './..', './/..', 'docs/./../..', '../'.repeat(40)]
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
  const encoded = dots.flatMap((dot) =>
    slashes.flatMap((slash) => goals.map((goal) => `${dot}${slash}${goal}`)),
  )
  const plain = parents.flatMap((up) => goals.map((goal) => `${up}/${goal}`))
  const linked = escapingLinks.flatMap((way) =>
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
  const relative = [...encoded, ...plain, ...linked, ...odd]
  return [
    ...new Set([
      ...relative.flatMap((path) => [`${home}/${path}`, path]),
      ...absolute,
      `${home}/../outside`,
      `${home}x`,
    ]),
  ]
}
