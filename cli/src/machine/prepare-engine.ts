import type { Progress } from '../terminal/progress.ts'
import { type Apt, AptError } from './apt.ts'
import { type EnginePlan, planEngine, startEngine } from './engine.ts'
import { hasProgram } from './run.ts'

export type EngineOutcome =
  /** `containersUrl` is set when the platform must use something else than what it would by itself. */
  { isUsable: true; containersUrl: string | null; notice: string | null } | { isUsable: false; why: string }

export type PrepareOptions = {
  /** `ROOST_CONTAINERS_URL` as it was set, null when it was not. */
  url: string | null
  apt: Apt | null
  progress: Progress
  signal?: AbortSignal
}

/** What `prepareEngine` would install or start, for a person to read before it happens. Null: nothing. */
export function enginePlanWords(plan: EnginePlan): string | null {
  switch (plan.type) {
    case 'ready':
    case 'impossible':
      return null
    case 'start':
      return 'start the container engine (dockerd), which is installed and does not run'
    case 'install':
      return 'install the container engine docker.io from this distribution’s packages (apt-get), and start it'
    case 'sandbox':
      return plan.isInstalled ? null : 'install bubblewrap from this distribution’s packages (apt-get)'
  }
}

/** Carries the plan out. Where an engine cannot be had after all, the sandbox takes its place if it may. */
export async function prepareEngine(plan: EnginePlan, options: PrepareOptions): Promise<EngineOutcome> {
  const { url, apt, progress, signal } = options
  switch (plan.type) {
    case 'ready':
      return { isUsable: true, containersUrl: null, notice: null }
    case 'impossible':
      return { isUsable: false, why: plan.why }
    case 'sandbox':
      return prepareSandbox(plan.why, options)
    case 'start':
    case 'install': {
      try {
        if (plan.type === 'install' && apt) {
          await progress.step('Installing the container engine (docker.io)', (onProgress) =>
            apt.install(['docker.io'], { onProgress, signal }),
          )
        }
        // On a system with services the package has started it.
        const now = await planEngine({ url, apt, env: process.env })
        if (now.type !== 'ready') {
          await progress.step('Starting the container engine', (onProgress) =>
            startEngine({ onProgress, signal }),
          )
        }
        return { isUsable: true, containersUrl: null, notice: null }
      } catch (error) {
        if (signal?.aborted) throw error
        const why = error instanceof Error ? error.message : String(error)
        return url === null ? prepareSandbox(why, options) : { isUsable: false, why }
      }
    }
  }
}

async function prepareSandbox(
  why: string,
  { apt, progress, signal }: PrepareOptions,
): Promise<EngineOutcome> {
  if (!(await hasProgram('bwrap'))) {
    if (!apt) return { isUsable: false, why: `${why}, and there is no bubblewrap for sandboxes` }
    try {
      await progress.step('Installing bubblewrap', (onProgress) =>
        apt.install(['bubblewrap'], { onProgress, signal }),
      )
    } catch (error) {
      if (!(error instanceof AptError)) throw error
      return { isUsable: false, why: `${why}, and bubblewrap cannot be installed: ${error.message}` }
    }
  }
  return {
    isUsable: true,
    containersUrl: 'sandbox:',
    notice: `Agents run in sandboxes instead of containers: ${why}. A sandbox keeps an agent apart less strictly.`,
  }
}
