import type { DiskFigures } from '../port.ts'
import { partOf } from './overlay.ts'

/** The part of `/system/df` that counts; engines from API 1.52 on name it differently. */
export type DiskAnswer = {
  Containers?: ContainerSize[] | null
  Volumes?: VolumeSize[] | null
  ContainerUsage?: { Items?: ContainerSize[] | null } | null
  VolumeUsage?: { Items?: VolumeSize[] | null } | null
}
type Labels = Record<string, string> | null
type ContainerSize = { Id: string; SizeRw?: number; Labels?: Labels }
type VolumeSize = { Name: string; UsageData?: { Size?: number } | null; Labels?: Labels }

/** Older engines ignore the parameters, and measure images and build caches too. */
export const diskPath = '/system/df?type=container&type=volume&verbose=1'

/** The figures of the objects that `isOurs` accepts. -1 means that the engine could not measure. */
export function diskFigures(
  answer: DiskAnswer,
  isOurs: (labels: Labels | undefined) => boolean,
): DiskFigures {
  const containers = answer.Containers ?? answer.ContainerUsage?.Items ?? []
  const volumes = answer.Volumes ?? answer.VolumeUsage?.Items ?? []
  return {
    containers: sizes(containers.map(({ Id, SizeRw = 0, Labels }): Sized => [isOurs(Labels), Id, SizeRw])),
    // The engine does not measure a layer. Its parts are all that it takes.
    volumes: sizes(
      volumes.map(
        ({ Name, UsageData, Labels }): Sized => [
          isOurs(Labels),
          Labels?.[partOf] ?? Name,
          UsageData?.Size ?? -1,
        ],
      ),
    ),
  }
}

type Sized = [isOurs: boolean, key: string, bytes: number]

function sizes(all: readonly Sized[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const [isOurs, key, bytes] of all)
    if (isOurs && bytes >= 0) found.set(key, (found.get(key) ?? 0) + bytes)
  return found
}
