import { join } from 'node:path'

/**
 * V8 lets garbage grow while memory is free; on a machine full of agents it is theirs. Measured: the API holds
 * half the memory after a load, at the same rate.
 */
export const leanHeap = ['--max-semi-space-size=4', '--heap-growing-percent=20']

/**
 * What a process must know before it starts. With the cache named, even its first file needs no stripping of types: the
 * module for that, once it is loaded, stays for good with 20 MB. Two arenas and a fixed threshold have glibc give back
 * what V8's threads have freed, another 20 to 25 MB; other allocators pass over its variables.
 */
export function leanEnvironment(root: string): Record<string, string> {
  return {
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/roost'),
    MALLOC_ARENA_MAX: '2',
    MALLOC_TRIM_THRESHOLD_: '131072',
  }
}
