/**
 * Layered volumes of Docker: the local driver mounts `overlay` with the folders of three plain volumes. The adapter and
 * the engine filter share these names and options.
 */

/** Labels. A base and a layer say what they are; a part names its volume and is hidden by the adapter. */
export const baseMark = 'roost.is-base'
export const baseOf = 'roost.base'
export const partOf = 'roost.part-of'
/** Of a container that a base is filled through. */
export const fillerKind = 'volume-filler'

/** Writes go here. */
export const upperOf = (volume: string) => `${volume}-upper`
/** The file system's own. */
export const workOf = (volume: string) => `${volume}-work`
/** Exists once a base is filled. */
export const filledOf = (volume: string) => `${volume}-filled`

export type PlainVolume = { Name: string; Mountpoint: string }

/** `bases`: the uppermost first. */
export type OverlayVolumes = { bases: readonly PlainVolume[]; upper: PlainVolume; work: PlainVolume }

/**
 * Null for a path that could mean something else among mount options. Only the folders of volumes themselves are used:
 * a container can replace everything inside them, for example by a link to a folder of the host.
 */
export function overlayOptions({ bases, upper, work }: OverlayVolumes) {
  if (![...bases, upper, work].every(hasPlainPath)) return null
  const below = bases.map(({ Mountpoint }) => Mountpoint).join(':')
  const folders = `lowerdir=${below},upperdir=${upper.Mountpoint},workdir=${work.Mountpoint}`
  // Renames of folders need `redirect_dir`. The others only differ between kernels.
  return { type: 'overlay', device: 'overlay', o: `${folders},redirect_dir=on,index=off,metacopy=off` }
}

function hasPlainPath({ Name, Mountpoint }: PlainVolume): boolean {
  return /^(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$/.test(Mountpoint) && Mountpoint.endsWith(`/${Name}/_data`)
}
