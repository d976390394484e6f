import { registerHooks } from 'node:module'

/**
 * Stubs for libraries that dockerode loads at start but needs only for SSH and build sessions. They would
 * take 13 MB, of which the collector would scan 4 MB. For SSH in `DOCKER_HOST`, the real library is loaded
 * with the first connection.
 */
const stubs: Record<string, string> = {
  '@grpc/grpc-js': 'module.exports = {}',
  '@grpc/proto-loader': 'module.exports = {}',
  protobufjs: 'module.exports = {}',
  ssh2: `
    const { createRequire } = require('node:module')
    const read = createRequire(${JSON.stringify(import.meta.resolve('docker-modem/package.json'))})
    exports.Client = function () { return new (read('ssh2').Client)() }
  `,
}
const scheme = 'roost-stand-in:'

const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (!(specifier in stubs)) return next(specifier, context)
    return { url: scheme + specifier, format: 'commonjs', shortCircuit: true }
  },
  load(url, context, next) {
    const source = url.startsWith(scheme) ? stubs[url.slice(scheme.length)] : undefined
    return source === undefined ? next(url, context) : { format: 'commonjs', source, shortCircuit: true }
  },
})
export const { default: Docker } = await import('dockerode')
hooks.deregister()
