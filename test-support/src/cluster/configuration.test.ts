import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerdConfiguration, kubeconfig, kubeletConfiguration } from './configuration.ts'
import { planSlot } from './slot.ts'

test('a kubeconfig holds the server and the credentials themselves, not paths', () => {
  const text = kubeconfig('https://10.160.0.1:6443', { ca: 'CA', cert: 'CERT', key: 'KEY' })
  const config = JSON.parse(text)
  assert.equal(config.clusters[0].cluster.server, 'https://10.160.0.1:6443')
  const decoded = [
    config.clusters[0].cluster['certificate-authority-data'],
    config.users[0].user['client-certificate-data'],
    config.users[0].user['client-key-data'],
  ].map((value) => Buffer.from(value, 'base64').toString())
  assert.deepEqual(decoded, ['CA', 'CERT', 'KEY'])
})

test('each kubelet keeps its pods in control groups of its own, and sends them to the DNS of its cluster', () => {
  const slot = planSlot(2)
  const text = kubeletConfiguration({ slot, node: slot.node(3), folder: '/f', caFile: '/ca' })
  const { cgroupRoot, clusterDNS, authentication } = JSON.parse(text)
  assert.equal(cgroupRoot, '/roost-c2-n3')
  assert.deepEqual(clusterDNS, ['10.162.0.1'])
  assert.equal(authentication.anonymous.enabled, false)
})

test('an engine without pods does not serve the kubelet', () => {
  const common = { root: '/r', state: '/s', socket: '/k', pauseImage: 'p:1' }
  assert.match(
    containerdConfiguration({ ...common, podNetworkFolder: null }),
    /disabled_plugins.*grpc\.v1\.cri/,
  )
  const node = containerdConfiguration({ ...common, podNetworkFolder: '/cni' })
  assert.doesNotMatch(node, /disabled_plugins.*grpc\.v1\.cri/)
  assert.match(node, /sandbox_image = "p:1"/)
})
