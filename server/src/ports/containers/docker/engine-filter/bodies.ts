import { isIP } from 'node:net'
import { z } from 'zod'
import { baseOf } from '../overlay.ts'
import { baseCapabilities, fullCapabilities } from '../spec.ts'
import { parseJson, RefusedCall } from './calls.ts'

export type BodyRules = {
  install: string
  isAllowedImage: (image: string) => boolean
}

export type ContainerBody = { image: string; network: string; volumes: string[]; json: string }
export type NamedBody = { name: string; json: string }
/** `layer`: the volume that it begins with, and the options of its mount. */
export type VolumeBody = NamedBody & { layer: { base: string; options: string } | null }

const objectName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, 'must be a plain name')
const count = z.int().positive()
/** Labels of other tools could make those act for the caller. */
const labels = z.record(z.string().regex(/^roost\.[a-z0-9.-]+$/, 'must start with roost.'), z.string())
/** Over the kernel's files, engines with a known fault can be led out of the container. */
const target = z
  .string()
  .regex(/^(\/(?!\.{1,2}(\/|$))[^/]+)+$/, 'must be a clean path')
  .refine((path) => !/^\/(proc|sys|dev)(\/|$)/.test(path), 'must not be in a folder of the kernel')
const sshPort = '22/tcp'
const capability = z.enum([...baseCapabilities, ...fullCapabilities])
const volumeMount = z.strictObject({
  Type: z.literal('volume'),
  Source: objectName,
  Target: target,
  ReadOnly: z.boolean(),
  VolumeOptions: z.strictObject({
    NoCopy: z.boolean(),
    Labels: labels,
    DriverConfig: z.strictObject({ Name: z.literal(''), Options: z.strictObject({}) }),
  }),
})

/** Exactly the fields that `createOptions` sets. What it leaves out keeps the engine's safe default. */
const containerBody = z.strictObject({
  Image: z.string(),
  Labels: labels,
  Env: z.array(z.string()),
  ExposedPorts: z.strictObject({ [sshPort]: z.strictObject({}) }).optional(),
  HostConfig: z.strictObject({
    NetworkMode: objectName,
    Runtime: objectName.optional(),
    PortBindings: z
      .strictObject({
        [sshPort]: z
          .array(
            z.strictObject({
              HostIp: z.string().refine((text) => isIP(text) !== 0, 'must be an address'),
              HostPort: z.string().refine((text) => /^\d{4,5}$/.test(text) && Number(text) >= 1024, {
                error: 'must be a port of 1024 or above',
              }),
            }),
          )
          .length(1),
      })
      .optional(),
    Dns: z.tuple([z.literal('127.0.0.1')]).optional(),
    CapDrop: z.tuple([z.literal('ALL')]),
    CapAdd: z.array(capability),
    SecurityOpt: z.array(z.literal('no-new-privileges:true')).max(1),
    Privileged: z.literal(false),
    Memory: count,
    MemorySwap: count,
    NanoCpus: count,
    PidsLimit: count,
    Tmpfs: z.record(
      target,
      z
        .string()
        .regex(/^(rw|ro),noexec,nosuid,nodev,mode=\d{4},size=\d+k?$/, 'must be noexec, nosuid and nodev'),
    ),
    LogConfig: z.strictObject({
      Type: z.literal('json-file'),
      Config: z.strictObject({ 'max-size': z.string(), 'max-file': z.string() }),
    }),
    RestartPolicy: z.strictObject({ Name: z.literal('unless-stopped') }),
    Mounts: z.array(volumeMount),
    Ulimits: z.array(z.strictObject({ Name: z.enum(['nofile', 'nproc']), Soft: count, Hard: count })),
  }),
})

const volumeBody = z.strictObject({
  Name: objectName,
  Labels: labels,
  Driver: z.literal('local').optional(),
  DriverOpts: z
    .strictObject({ type: z.literal('overlay'), device: z.literal('overlay'), o: z.string() })
    .optional(),
})

const networkBody = z.strictObject({
  Name: objectName.startsWith('roost-'),
  Driver: z.literal('bridge'),
  CheckDuplicate: z.literal(true),
  Internal: z.boolean(),
  Labels: labels,
  // Containers of one network must not reach each other.
  Options: z.strictObject({ 'com.docker.network.bridge.enable_icc': z.literal('false') }),
})

/** Returns the checked body with its fields in canonical form. Throws `RefusedCall`. */
export function readContainerBody(text: string, rules: BodyRules): ContainerBody {
  const body = parse(containerBody, text)
  if (!rules.isAllowedImage(body.Image)) throw new RefusedCall('Image: must be an image of agents.')
  requireOwn(body.Labels, 'Labels', rules)
  const { Mounts, NetworkMode } = body.HostConfig
  for (const { VolumeOptions } of Mounts)
    requireOwn(VolumeOptions.Labels, 'HostConfig.Mounts.VolumeOptions.Labels', rules)
  return {
    image: body.Image,
    network: NetworkMode,
    volumes: Mounts.map(({ Source }) => Source),
    json: JSON.stringify(body),
  }
}

export const isVolumeName = (text: string) => objectName.safeParse(text).success

/** The caller checks the options of a layer, which need the paths of volumes. */
export function readVolumeBody(text: string, rules: BodyRules): VolumeBody {
  const body = parse(volumeBody, text)
  requireOwn(body.Labels, 'Labels', rules)
  const named = { name: body.Name, json: JSON.stringify(body) }
  if (!body.DriverOpts) return { ...named, layer: null }
  const base = body.Labels[baseOf]
  if (base === undefined || !isVolumeName(base))
    throw new RefusedCall(`Labels: ${baseOf} must name a volume.`)
  return { ...named, layer: { base, options: body.DriverOpts.o } }
}

export function readNetworkBody(text: string, rules: BodyRules): NamedBody {
  const body = parse(networkBody, text)
  requireOwn(body.Labels, 'Labels', rules)
  return { name: body.Name, json: JSON.stringify(body) }
}

/** Engines ignore the case of names and take the last of two equal ones, so only the parsed value is forwarded. */
function parse<T>(schema: z.ZodType<T>, text: string): T {
  const result = schema.safeParse(parseJson(text))
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = issue?.path.join('.')
  throw new RefusedCall(`${path ? `${path}: ` : ''}${issue?.message ?? 'the body is invalid'}`)
}

function requireOwn(given: Record<string, string>, path: string, { install }: BodyRules): void {
  if (given['roost.install'] !== install)
    throw new RefusedCall(`${path}: roost.install must be the id of this installation.`)
}
