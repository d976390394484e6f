import { registerHooks } from 'node:module'

/**
 * What dockerode reads at its start, and needs for engines behind SSH and for builds with a session only: 13 MB of the
 * process, 4 of which would be marked by each collection. No build here has a session; where `DOCKER_HOST` names an
 * engine behind SSH, the library for it is read with the first connection.
 */
const standIns: Record<string, string> = {
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
    if (!(specifier in standIns)) return next(specifier, context)
    return { url: scheme + specifier, format: 'commonjs', shortCircuit: true }
  },
  load(url, context, next) {
    const source = url.startsWith(scheme) ? standIns[url.slice(scheme.length)] : undefined
    return source === undefined ? next(url, context) : { format: 'commonjs', source, shortCircuit: true }
  },
})
export const { default: Docker } = await import('dockerode')
hooks.deregister()
