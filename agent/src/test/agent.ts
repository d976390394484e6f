import { join } from 'node:path'
import { type Agent, startAgent } from '../agent.ts'
import type { Config } from '../config.ts'
import { type Clock, systemClock } from '../kit/clock.ts'
import { fake } from '../runtimes/fake.ts'
import type { Runtime } from '../runtimes/port.ts'
import { makeTestHome, type TestHome } from './home.ts'
import { startTestPlatform, type TestPlatform } from './platform.ts'

/** The whole agent in this process, with its own workspace and a platform at the other end of its link. */
export type TestAgent = {
  agent: Agent
  platform: TestPlatform
  place: TestHome
  [Symbol.asyncDispose](): Promise<void>
}

export type TestAgentOptions = {
  runtime?: Runtime
  clock?: Clock
  config?: Partial<Config>
  platform?: TestPlatform
  place?: TestHome
  variables?: Record<string, string>
  settings?: Partial<TestPlatform['settings']>
}

export async function startTestAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
  const platform = options.platform ?? (await startTestPlatform())
  Object.assign(platform.settings, options.settings)
  const place = options.place ?? makeTestHome()
  const agent = await startAgent({
    config: {
      agentName: 'tester',
      runtime: options.runtime?.name ?? 'claude-code',
      runtimeModel: null,
      linkUrl: platform.url,
      linkAddresses: [],
      mcpUrl: null,
      agentKey: platform.key,
      imageVersion: 'test',
      fence: null,
      gateway: null,
      home: place.home,
      volume: join(place.root, 'volume'),
      template: join(place.root, 'template'),
      scratch: place.scratch,
      ...options.config,
    },
    variables: options.variables ?? { PATH: process.env.PATH ?? '', TMPDIR: join(place.home, '.tmp') },
    runtime: options.runtime ?? fake,
    clock: options.clock ?? systemClock,
    log: { info: () => {}, warn: () => {} },
  })
  return {
    agent,
    platform,
    place,
    async [Symbol.asyncDispose]() {
      await agent.close(100)
      if (!options.platform) await platform.close()
      if (!options.place) place[Symbol.dispose]()
    },
  }
}
