import { repository } from '../machine/repository.ts'
import { runStep } from '../platform/run-step.ts'
import { ProcessFailed } from '../platform/supervised-process.ts'
import type { Progress } from '../terminal/progress.ts'

/** Exit code of the program when no cluster can run here. */
const exitUnavailable = 69

/** Returns one sentence about what this machine lacks for a cluster; null if one can run. */
export async function missingForCluster(signal: AbortSignal): Promise<string | null> {
  try {
    await prepare(['--check'], { onProgress: () => {}, signal })
    return null
  } catch (error) {
    if (error instanceof ProcessFailed && error.exitCode === exitUnavailable) return error.message
    throw error
  }
}

/** Builds the programs of a cluster unless they exist. Throws with the reason. */
export async function prepareCluster(progress: Progress, signal: AbortSignal): Promise<void> {
  await progress.step('Preparing the cluster (a first build takes 5 to 10 minutes)', (onProgress) =>
    prepare([], { onProgress, signal }),
  )
}

type Options = { onProgress: (text: string) => void; signal: AbortSignal }

function prepare(args: string[], options: Options): Promise<void> {
  return runStep({ file: repository.cluster, args, env: process.env, cwd: repository.root, ...options })
}
