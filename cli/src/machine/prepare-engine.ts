import type { Progress } from '../terminal/progress.ts'
import { type Apt, AptError } from './apt.ts'
import { type EnginePlan, planEngine, startEngine } from './engine.ts'
import { hasProgram } from './run.ts'

export type EngineOutcome =
  /** `containersUrl` overrides the platform's default; null keeps it. */
  | { isUsable: true; containersUrl: string | null; notice: string | null }
  | { isUsable: false; reason: string }

export type PrepareOptions = {
  /** `ROOST_CONTAINERS_URL`; null when it is not set. */
  url: string | null
  apt: Apt | null
  progress: Progress
  signal?: AbortSignal
}

/** Describes what `prepareEngine` will install or start, so that the user can confirm it. Null when nothing. */
export function describeEnginePlan(plan: EnginePlan): string | null {
  switch (plan.type) {
    case 'ready':
    case 'impossible':
      return null
    case 'start':
      return 'start the installed container engine (dockerd)'
    case 'install':
      return 'install the container engine docker.io and nftables with apt-get, and start the engine'
    case 'sandbox':
      return plan.isInstalled ? null : 'install bubblewrap with apt-get'
  }
}

/** Executes the plan. Falls back to the sandbox if the engine fails and none was configured. */
export async function prepareEngine(plan: EnginePlan, options: PrepareOptions): Promise<EngineOutcome> {
  const { url, apt, progress, signal } = options
  switch (plan.type) {
    case 'ready':
      return { isUsable: true, containersUrl: null, notice: null }
    case 'impossible':
      return { isUsable: false, reason: plan.reason }
    case 'sandbox':
      return prepareSandbox(plan.reason, options)
    case 'start':
    case 'install': {
      try {
        if (plan.type === 'install' && apt) {
          await progress.step('Installing the container engine (docker.io)', (onProgress) =>
            apt.install(['docker.io', 'nftables'], { onProgress, signal }),
          )
        }
        // Where systemd runs, the package has already started the engine.
        const now = await planEngine({ url, apt, env: process.env })
        if (now.type !== 'ready') {
          await progress.step('Starting the container engine', (onProgress) =>
            startEngine({ onProgress, signal }),
          )
        }
        return { isUsable: true, containersUrl: null, notice: null }
      } catch (error) {
        if (signal?.aborted) throw error
        const reason = error instanceof Error ? error.message : String(error)
        return url === null ? prepareSandbox(reason, options) : { isUsable: false, reason }
      }
    }
  }
}

async function prepareSandbox(
  reason: string,
  { apt, progress, signal }: PrepareOptions,
): Promise<EngineOutcome> {
  if (!(await hasProgram('bwrap'))) {
    if (!apt) return { isUsable: false, reason: `${reason}, and bubblewrap for sandboxes is not installed` }
    try {
      await progress.step('Installing bubblewrap', (onProgress) =>
        apt.install(['bubblewrap'], { onProgress, signal }),
      )
    } catch (error) {
      if (!(error instanceof AptError)) throw error
      return { isUsable: false, reason: `${reason}, and bubblewrap cannot be installed: ${error.message}` }
    }
  }
  return {
    isUsable: true,
    containersUrl: 'sandbox:',
    notice: `Agents run in sandboxes instead of containers: ${reason}. A sandbox isolates an agent less strictly.`,
  }
}
