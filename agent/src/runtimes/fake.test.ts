import { dirname } from 'node:path'
import { fake } from './fake.ts'
import { runtimeSuite } from './suite.ts'

runtimeSuite({
  title: 'fake',
  runtime: fake,
  options: {},
  variables: { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8' },
  broker: () => ({ url: 'http://127.0.0.1:1', token: 'rbk_secret-of-the-run' }),
  model: null,
  hasPieces: true,
  isReal: false,
  limitsTurns: false,
})
