import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, type TestOptions } from 'node:test'
import { startModelServer } from '@roost/test-support/model/index'
import { startTestBroker } from '../test/broker.ts'
import { fake } from './fake.ts'
import { openRuntime } from './open.ts'
import { runtimeSuite, type SuiteSubject } from './suite.ts'

/** The suite on the fake, and on the real CLIs where they are installed. */
const clis = process.env.ROOST_TEST_CLIS ?? ''
const bin = join(clis, 'node_modules', '.bin')
const path = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
const only = process.env.ROOST_TEST_RUNTIME

const model = await startModelServer()
const broker = await startTestBroker(model.url)
after(async () => {
  await broker.stop()
  await model.close()
})

function optionsFor(command: string): TestOptions {
  if (clis === '') return { skip: 'ROOST_TEST_CLIS names no folder with the CLIs' }
  return existsSync(join(bin, command)) ? { timeout: 120_000 } : { skip: `${command} is not in ${bin}` }
}

const common: Omit<SuiteSubject, 'title' | 'runtime' | 'options' | 'hasPieces' | 'model' | 'limitsTurns'> = {
  variables: { PATH: path, LANG: 'C.UTF-8' },
  broker: () => ({ url: broker.url, token: 'rbk_secret-of-the-run' }),
  cutBroker: broker.cut,
  breakAnswer: broker.breakAfter,
  isReal: true,
}

const subjects: SuiteSubject[] = [
  {
    title: 'fake',
    runtime: fake,
    options: {},
    hasPieces: true,
    isReal: false,
    limitsTurns: false,
    model: null,
    variables: common.variables,
    broker: common.broker,
  },
  {
    ...common,
    title: 'claude',
    runtime: openRuntime('claude-code', { PATH: path }),
    options: optionsFor('claude'),
    hasPieces: true,
    limitsTurns: true,
    model: null,
  },
  {
    ...common,
    title: 'gemini',
    runtime: openRuntime('gemini-cli', { PATH: path }),
    options: optionsFor('gemini'),
    hasPieces: true,
    limitsTurns: true,
    model: 'gemini-2.5-flash',
  },
  {
    ...common,
    title: 'codex',
    runtime: openRuntime('codex', { PATH: path }),
    options: optionsFor('codex'),
    hasPieces: false,
    limitsTurns: false,
    model: null,
  },
]

for (const subject of subjects) if (!only || only === subject.title) runtimeSuite(subject)
