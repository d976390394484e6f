import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { startModelServer } from '@roost/test-support/model/index'
import { startTestBroker } from '../../test/broker.ts'
import { openRuntime } from '../open.ts'
import { runtimeSuite, type SuiteSubject } from '../suite.ts'

type Subject = Pick<SuiteSubject, 'title' | 'model' | 'hasPieces' | 'limitsTurns'> & {
  runtime: Parameters<typeof openRuntime>[0]
  command: string
}

/**
 * Runs the suite on a real installed CLI. Each CLI has its own test file, because all in one would take too
 * long.
 */
export async function installedSuite({ runtime, command, ...subject }: Subject): Promise<void> {
  const clis = process.env.ROOST_TEST_CLIS ?? ''
  const bin = join(clis, 'node_modules', '.bin')
  const path = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
  const model = await startModelServer()
  const broker = await startTestBroker(model.url)
  after(async () => {
    await broker.stop()
    await model.close()
  })

  function options(): SuiteSubject['options'] {
    if (clis === '') return { skip: 'ROOST_TEST_CLIS names no folder with the CLIs' }
    return existsSync(join(bin, command)) ? { timeout: 240_000 } : { skip: `${command} is not in ${bin}` }
  }

  runtimeSuite({
    ...subject,
    runtime: openRuntime(runtime, { PATH: path }),
    options: options(),
    variables: { PATH: path, LANG: 'C.UTF-8' },
    broker: () => ({ url: broker.url, token: 'rbk_secret-of-the-run' }),
    cutBroker: broker.cut,
    breakAnswer: broker.breakAfter,
    isReal: true,
  })
}
