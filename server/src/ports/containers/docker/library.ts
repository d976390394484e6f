import { registerHooks } from 'node:module'

/**
 * What dockerode reads at its start, and needs for engines behind SSH and for builds with a session only: 13 MB of the
 * process, 4 of which would be marked by each collection.
 */
const unused = new Set(['@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs'])
// The library follows DOCKER_HOST by itself.
if (!process.env.DOCKER_HOST?.startsWith('ssh:')) unused.add('ssh2')

const nothing = 'roost:nothing'
const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (!unused.has(specifier)) return next(specifier, context)
    return { url: nothing, format: 'commonjs', shortCircuit: true }
  },
  load(url, context, next) {
    if (url !== nothing) return next(url, context)
    return { format: 'commonjs', source: 'module.exports = {}', shortCircuit: true }
  },
})
export const { default: Docker } = await import('dockerode')
hooks.deregister()
