/** A program that runs, or does not. */
public final class Hello {
    public static void main(String[] args) {
        System.out.println("hello");
    }
}
