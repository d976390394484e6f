import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withSourcePackages } from './build.ts'
import { cacheFolder } from './paths.ts'

test('package sources of both formats list source packages too, and keep their other lines', () => {
  const modern = 'Types: deb\nURIs: http://deb.debian.org/debian\nSuites: bookworm\n\nTypes: deb\nSuites: x\n'
  assert.equal(withSourcePackages(modern, 'sources'), modern.replaceAll('Types: deb', 'Types: deb deb-src'))
  const old = '# deb commented\ndeb [signed-by=/k] http://x bookworm main\n'
  assert.equal(withSourcePackages(old, 'list'), `${old}deb-src [signed-by=/k] http://x bookworm main\n`)
})

test('the cache is the own folder, else below the cache folder of the user', () => {
  assert.equal(cacheFolder({ ROOST_CLUSTER_CACHE: '/c', XDG_CACHE_HOME: '/x', HOME: '/h' }), '/c')
  assert.equal(cacheFolder({ XDG_CACHE_HOME: '/x', HOME: '/h' }), '/x/roost/cluster')
  assert.equal(cacheFolder({ XDG_CACHE_HOME: '', HOME: '/h' }), '/h/.cache/roost/cluster')
})
