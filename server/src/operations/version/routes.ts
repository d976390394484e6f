import { getVersion } from '@roost/contracts/operations/health'
import { type Route, route } from '../../http/route.ts'
import type { BuildInfo } from './service.ts'

export type VersionRoutesDeps = {
  build: BuildInfo
  agentImageVersion: string
  /** Read for each request, because admins can set the key of the voice provider at any time. */
  isVoiceOn(): boolean
}

export function versionRoutes({ build, agentImageVersion, isVoiceOn }: VersionRoutesDeps): Route[] {
  const runtimes = ['claude-code', 'gemini-cli', 'codex']
  const components = { server: build.version, agent_image: agentImageVersion }
  return [route(getVersion, async () => ({ ...build, runtimes, components, voice_enabled: isVoiceOn() }))]
}
