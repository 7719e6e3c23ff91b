package terrace.applications;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A service's answer as JSON: the items of one order, looked up, put into maps and written out. */
final class Items extends HttpServlet {
    private static final long serialVersionUID = 1L;
    /** Orders there are. */
    static final int ORDERS = 256;

    private static final int ITEMS = 20;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        byte[] body = answer(Integer.parseInt(request.getParameter("order")));
        response.setContentType("application/json");
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    /** The answer for an order. */
    static byte[] answer(int order) {
        List<Map<String, Object>> items = new ArrayList<>();
        for (int i = 0; i < ITEMS; i++) {
            Map<String, Object> item = new LinkedHashMap<>();
            item.put("number", order * ITEMS + i);
            item.put("name", "item " + i + " of order " + order);
            item.put("price", (order * 31 + i * 7) % 1000);
            items.add(item);
        }
        StringBuilder json = new StringBuilder("[");
        for (Map<String, Object> item : items) {
            json.append(json.length() > 1 ? ",{" : "{");
            String separator = "";
            for (Map.Entry<String, Object> entry : item.entrySet()) {
                json.append(separator).append('"').append(entry.getKey()).append("\":\"").append(entry.getValue()).append('"');
                separator = ",";
            }
            json.append('}');
        }
        return json.append(']').toString().getBytes(StandardCharsets.UTF_8);
    }
}
