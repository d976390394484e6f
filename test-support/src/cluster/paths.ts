import { homedir } from 'node:os'
import { join } from 'node:path'

/** Selects another cache folder; see `cacheFolder`. */
export const cacheVariable = 'ROOST_CLUSTER_CACHE'

/** Built programs and loaded images, kept between runs. May be deleted while no cluster runs. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const own = env[cacheVariable]
  if (own) return own
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'roost/cluster')
}
