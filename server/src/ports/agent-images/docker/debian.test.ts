import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDistribution } from './debian.ts'

const osRelease = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n'
const mirror = 'http://mirror.example/debian/'

test("the release's main archive becomes the base, with its updates as sources", () => {
  const found = parseDistribution(
    osRelease,
    [
      `Debian|${mirror}|bookworm|main`,
      `Debian|${mirror}|bookworm|contrib`,
      `Debian|${mirror}|bookworm-updates|main`,
      'Debian|http://mirror.example/security/|bookworm-security|main',
    ].join('\n'),
  )
  assert.deepEqual(found?.main, { uri: mirror, suite: 'bookworm', components: ['main', 'contrib'] })
  assert.deepEqual(
    found?.sources.map(({ suite }) => suite),
    ['bookworm', 'bookworm-updates', 'bookworm-security'],
  )
})

test('archives of other vendors are excluded, even with the same suite', () => {
  const found = parseDistribution(
    osRelease,
    [
      'Node Source|https://node.example/|bookworm|main',
      `Debian|${mirror}|bookworm|main`,
      'apt.postgresql.org|https://pg.example/|bookworm-pgdg|main',
    ].join('\n'),
  )
  assert.equal(found?.sources.length, 1)
  assert.equal(found?.main.uri, mirror)
})

test('a machine that is not Debian, or has no source of its release, returns null', () => {
  assert.equal(parseDistribution('ID=alpine\n', `Debian|${mirror}|bookworm|main`), null)
  assert.equal(parseDistribution(osRelease, `Debian|${mirror}|trixie|main`), null)
  assert.equal(parseDistribution(osRelease, ''), null)
})
