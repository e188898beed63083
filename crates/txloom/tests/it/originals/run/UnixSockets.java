import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import javax.net.SocketFactory;

/**
 * Connections to a socket in the file system, for drivers that only know hosts and ports: private servers listen
 * nowhere else. The path is the system property {@code socket}; whatever host and port a driver asks for, it gets
 * there.
 */
public class UnixSockets extends SocketFactory {

    @Override
    public Socket createSocket() {
        return new UnixSocket();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        Socket socket = createSocket();
        socket.connect(null);
        return socket;
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return createSocket(host, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return createSocket((String) null, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) throws IOException {
        return createSocket((String) null, port);
    }

    /** What drivers set is either meaningless here (delays, buffers) or not needed by tests (time-outs). */
    private static final class UnixSocket extends Socket {

        private SocketChannel channel;
        private InputStream input;
        private OutputStream output;

        @Override
        public void connect(SocketAddress address) throws IOException {
            connect(address, 0);
        }

        @Override
        public void connect(SocketAddress address, int timeout) throws IOException {
            channel = SocketChannel.open(UnixDomainSocketAddress.of(System.getProperty("socket")));
            input = Channels.newInputStream(channel);
            output = Channels.newOutputStream(channel);
        }

        @Override
        public InputStream getInputStream() {
            return input;
        }

        @Override
        public OutputStream getOutputStream() {
            return output;
        }

        @Override
        public boolean isConnected() {
            return channel != null && channel.isConnected();
        }

        @Override
        public boolean isClosed() {
            return channel != null && !channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            if (channel != null) {
                channel.close();
            }
        }

        @Override
        public void shutdownInput() throws IOException {
            channel.shutdownInput();
        }

        @Override
        public void shutdownOutput() throws IOException {
            channel.shutdownOutput();
        }

        @Override
        public void setSoTimeout(int timeout) {
        }

        @Override
        public int getSoTimeout() {
            return 0;
        }

        @Override
        public void setTcpNoDelay(boolean on) {
        }

        @Override
        public void setKeepAlive(boolean on) {
        }

        @Override
        public void setReuseAddress(boolean on) {
        }

        @Override
        public void setSoLinger(boolean on, int linger) {
        }

        @Override
        public void setReceiveBufferSize(int size) {
        }

        @Override
        public int getReceiveBufferSize() {
            return 1 << 16;
        }

        @Override
        public void setSendBufferSize(int size) {
        }

        @Override
        public int getSendBufferSize() {
            return 1 << 16;
        }
    }
}
