/** Reduces what the engine answers to what this installation may see and the adapter reads. */

type Labels = Record<string, string> | null | undefined
type Labelled = { Labels?: Labels }
type Network = Labelled & { Id?: string; Name?: string; Created?: string }

export type IsOwn = (labels: Labels) => boolean

/** Without addresses, plugins and the names of other containers' things. The first three fields identify the engine. */
export function reduceInfo(answer: Record<string, unknown>): unknown {
  const { ID, Name, DockerRootDir, NCPU, MemTotal, Runtimes, DefaultRuntime } = answer
  const names = Object.keys(typeof Runtimes === 'object' && Runtimes ? Runtimes : {})
  const options: unknown[] = Array.isArray(answer.SecurityOptions) ? answer.SecurityOptions : []
  const SecurityOptions = options.filter((option) => option === 'name=rootless')
  const own = Object.fromEntries(names.map((name) => [name, {}]))
  return { ID, Name, DockerRootDir, NCPU, MemTotal, DefaultRuntime, Runtimes: own, SecurityOptions }
}

/** Both forms of the answer, see `DiskAnswer`; images and build caches are left out. */
export function reduceDisk(answer: Record<string, unknown>, isOwn: IsOwn): unknown {
  const own = (list: unknown) =>
    Array.isArray(list) ? list.filter((each: Labelled) => isOwn(each.Labels)) : undefined
  const items = (usage: unknown) =>
    typeof usage === 'object' && usage !== null && 'Items' in usage ? { Items: own(usage.Items) } : undefined
  return {
    Containers: own(answer.Containers),
    Volumes: own(answer.Volumes),
    ContainerUsage: items(answer.ContainerUsage),
    VolumeUsage: items(answer.VolumeUsage),
  }
}

/** Of another installation's network only the name is visible, and only to a caller who gives exactly that name. */
export function reduceNetworks(answer: Network[], isOwn: IsOwn, names: readonly string[]): unknown {
  return answer.flatMap((network) => {
    if (isOwn(network.Labels)) return [network]
    const { Id, Name, Created } = network
    return Name !== undefined && names.includes(Name)
      ? [{ Id, Name, Created, Labels: {}, IPAM: { Config: [] } }]
      : []
  })
}

/** Of another installation's volume only the name, which a refused creation would show too. */
export function reduceVolume(answer: Labelled & { Name?: string }, isOwn: IsOwn): unknown {
  return isOwn(answer.Labels) ? answer : { Name: answer.Name, Labels: {} }
}
