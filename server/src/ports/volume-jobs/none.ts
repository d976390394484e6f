import { VolumeJobError, type VolumeJobs } from './port.ts'

/** For engines beside whose volumes the platform cannot run anything. `problem` says why and what to do. */
export function createNoJobs(problem: string): VolumeJobs {
  const refuse = async () => {
    throw new VolumeJobError(problem)
  }
  return { problem: async () => problem, prepare: refuse, run: refuse }
}
