/**
 * Reads `ROOST_AGENT_IMAGE` as a list `runtime=image`, separated by commas: images by digest have no name in common.
 * Null for the other form, one name in which `{runtime}` stands for the runtime.
 */
export function namedImages(setting: string): ReadonlyMap<string, string> | null {
  if (!setting.includes('=')) return null
  const entries = setting.split(',').map((entry): [string, string] => {
    const [runtime = '', image = ''] = entry.trim().split('=')
    return [runtime, image]
  })
  return new Map(entries)
}

/** Returns the image of a runtime; empty if a list lacks it, which the configuration refuses. */
export function namedImage(setting: string, runtime: string): string {
  const images = namedImages(setting)
  return images === null ? setting.replaceAll('{runtime}', runtime) : (images.get(runtime) ?? '')
}
